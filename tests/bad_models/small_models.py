"""Two small, sound models to damage: one in today's layout with a bit of everything, one as OpenSim 3 wrote them."""

ARM = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40000">
	<Model name="arm">
		<gravity>0 -9.81 0</gravity>
		<Ground name="ground">
			<WrapObjectSet name="wrapobjectset"><objects>
				<WrapSphere name="ball"><active>true</active><xyz_body_rotation>0 0 0</xyz_body_rotation>
					<translation>0 0.4 0</translation><quadrant>all</quadrant><radius>0.03</radius></WrapSphere>
			</objects></WrapObjectSet>
		</Ground>
		<BodySet name="bodyset"><objects>
			<Body name="upper">
				<mass>2.1</mass><mass_center>0 -0.15 0</mass_center><inertia>0.02 0.01 0.02 0 0 0</inertia>
				<WrapObjectSet name="wrapobjectset"><objects>
					<WrapCylinder name="elbow_cylinder"><active>true</active><xyz_body_rotation>0 0 0</xyz_body_rotation>
						<translation>0 -0.3 0</translation><quadrant>+x</quadrant><radius>0.02</radius><length>0.1</length></WrapCylinder>
					<WrapEllipsoid name="egg"><dimensions>0.01 0.02 0.03</dimensions></WrapEllipsoid>
					<WrapTorus name="ring"><inner_radius>0.01</inner_radius><outer_radius>0.05</outer_radius></WrapTorus>
				</objects></WrapObjectSet>
			</Body>
			<Body name="lower">
				<components>
					<PhysicalOffsetFrame name="hand"><socket_parent>..</socket_parent><translation>0 -0.25 0</translation>
						<orientation>0 0 0.1</orientation></PhysicalOffsetFrame>
				</components>
				<mass>1.2</mass><mass_center>0 -0.12 0</mass_center><inertia>0.01 0.005 0.01 0 0 0</inertia>
			</Body>
		</objects></BodySet>
		<JointSet name="jointset"><objects>
			<PinJoint name="shoulder">
				<socket_parent_frame>ground_offset</socket_parent_frame><socket_child_frame>upper_offset</socket_child_frame>
				<coordinates>
					<Coordinate name="shoulder_flex"><default_value>0.1</default_value><default_speed_value>0</default_speed_value>
						<range>-1.5 3</range><clamped>true</clamped><locked>false</locked></Coordinate>
				</coordinates>
				<frames>
					<PhysicalOffsetFrame name="ground_offset"><socket_parent>/ground</socket_parent>
						<translation>0 0.8 0</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame>
					<PhysicalOffsetFrame name="upper_offset"><socket_parent>/bodyset/upper</socket_parent>
						<translation>0 0.1 0</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame>
				</frames>
			</PinJoint>
			<CustomJoint name="elbow">
				<socket_parent_frame>/bodyset/upper</socket_parent_frame><socket_child_frame>/bodyset/lower</socket_child_frame>
				<coordinates>
					<Coordinate name="elbow_flex"><default_value>0.2</default_value><range>0 2.5</range></Coordinate>
					<Coordinate name="pronation"><default_value>0</default_value><range>-1 1</range></Coordinate>
				</coordinates>
				<SpatialTransform>
					<TransformAxis name="rotation1"><coordinates>elbow_flex</coordinates><axis>0 0 1</axis>
						<LinearFunction name="function"><coefficients>1 0</coefficients></LinearFunction></TransformAxis>
					<TransformAxis name="rotation2"><coordinates>pronation</coordinates><axis>0 1 0</axis>
						<function><LinearFunction><coefficients>1 0</coefficients></LinearFunction></function></TransformAxis>
					<TransformAxis name="rotation3"><axis>1 0 0</axis>
						<Constant name="function"><value>0</value></Constant></TransformAxis>
					<TransformAxis name="translation1"><coordinates>elbow_flex</coordinates><axis>1 0 0</axis>
						<function><MultiplierFunction><function><SimmSpline><x>0 1 2 3</x><y>0 0.001 0.003 0.002</y></SimmSpline></function>
							<scale>1.1</scale></MultiplierFunction></function></TransformAxis>
					<TransformAxis name="translation2"><axis>0 1 0</axis><function><Constant><value>-0.3</value></Constant></function></TransformAxis>
					<TransformAxis name="translation3"><axis>0 0 1</axis><function><Constant><value>0</value></Constant></function></TransformAxis>
				</SpatialTransform>
			</CustomJoint>
		</objects></JointSet>
		<ConstraintSet name="constraintset"><objects>
			<CoordinateCouplerConstraint name="pair"><isEnforced>true</isEnforced>
				<coupled_coordinates_function><LinearFunction><coefficients>0.5 0</coefficients></LinearFunction></coupled_coordinates_function>
				<independent_coordinate_names>elbow_flex</independent_coordinate_names>
				<dependent_coordinate_name>pronation</dependent_coordinate_name><scale_factor>0.3</scale_factor></CoordinateCouplerConstraint>
			<PointConstraint name="rope_end"><isEnforced>false</isEnforced><socket_body_1>/ground</socket_body_1>
				<socket_body_2>/bodyset/lower</socket_body_2><location_body_1>0 0 0</location_body_1><location_body_2>0 -0.2 0</location_body_2></PointConstraint>
			<ConstantDistanceConstraint name="rod"><isEnforced>false</isEnforced><socket_body_1>/ground</socket_body_1>
				<socket_body_2>/bodyset/lower</socket_body_2><location_body_1>0 0 0</location_body_1><location_body_2>0 -0.2 0</location_body_2>
				<constant_distance>0.4</constant_distance></ConstantDistanceConstraint>
		</objects></ConstraintSet>
		<ForceSet name="forceset"><objects>
			<Thelen2003Muscle name="biceps">
				<appliesForce>true</appliesForce>
				<GeometryPath name="geometrypath">
					<PathPointSet><objects>
						<PathPoint name="biceps-P1"><socket_parent_frame>/ground</socket_parent_frame><location>0 0.8 0.02</location></PathPoint>
						<ConditionalPathPoint name="biceps-P2"><socket_parent_frame>/bodyset/upper</socket_parent_frame><location>0.02 -0.2 0</location>
							<socket_coordinate>/jointset/elbow/elbow_flex</socket_coordinate><range>0 1</range></ConditionalPathPoint>
						<MovingPathPoint name="biceps-P3"><socket_parent_frame>/bodyset/lower</socket_parent_frame>
							<socket_x_coordinate>/jointset/elbow/elbow_flex</socket_x_coordinate>
							<socket_y_coordinate>/jointset/elbow/elbow_flex</socket_y_coordinate>
							<socket_z_coordinate>/jointset/elbow/elbow_flex</socket_z_coordinate>
							<x_location><SimmSpline><x>0 1 2</x><y>0.02 0.021 0.022</y></SimmSpline></x_location>
							<y_location><PiecewiseLinearFunction><x>0 2</x><y>-0.05 -0.06</y></PiecewiseLinearFunction></y_location>
							<z_location><Constant><value>0</value></Constant></z_location></MovingPathPoint>
					</objects></PathPointSet>
					<PathWrapSet><objects>
						<PathWrap name="biceps_wrap"><wrap_object>elbow_cylinder</wrap_object><method>hybrid</method><range>-1 -1</range></PathWrap>
					</objects></PathWrapSet>
				</GeometryPath>
				<max_isometric_force>600</max_isometric_force><optimal_fiber_length>0.1</optimal_fiber_length>
				<tendon_slack_length>0.2</tendon_slack_length><pennation_angle_at_optimal>0.1</pennation_angle_at_optimal>
				<max_contraction_velocity>10</max_contraction_velocity><FmaxTendonStrain>0.033</FmaxTendonStrain>
			</Thelen2003Muscle>
			<PathSpring name="band">
				<appliesForce>true</appliesForce>
				<GeometryPath name="geometrypath"><PathPointSet><objects>
					<PathPoint name="band-P1"><socket_parent_frame>/ground</socket_parent_frame><location>0 0.8 0.02</location></PathPoint>
					<PathPoint name="band-P2"><socket_parent_frame>/bodyset/lower/hand</socket_parent_frame><location>0 0 0</location></PathPoint>
				</objects></PathPointSet></GeometryPath>
				<resting_length>0.1</resting_length><stiffness>100</stiffness><dissipation>0.1</dissipation>
			</PathSpring>
		</objects></ForceSet>
		<MarkerSet name="markerset"><objects>
			<Marker name="wrist"><socket_parent_frame>/bodyset/lower</socket_parent_frame><location>0 -0.25 0</location><fixed>false</fixed></Marker>
			<Marker name="elbow"><socket_parent_frame>/bodyset/upper</socket_parent_frame><location>0.03 -0.3 0</location><fixed>false</fixed></Marker>
		</objects></MarkerSet>
	</Model>
</OpenSimDocument>
"""

OLD_ARM = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="30000">
	<Model name="old_arm">
		<gravity>0 -9.81 0</gravity>
		<BodySet><objects>
			<Body name="ground"><mass>0</mass><mass_center>0 0 0</mass_center><inertia_xx>0</inertia_xx><inertia_yy>0</inertia_yy>
				<inertia_zz>0</inertia_zz><inertia_xy>0</inertia_xy><inertia_xz>0</inertia_xz><inertia_yz>0</inertia_yz><Joint /></Body>
			<Body name="upper"><mass>2.1</mass><mass_center>0 -0.15 0</mass_center><inertia_xx>0.02</inertia_xx><inertia_yy>0.01</inertia_yy>
				<inertia_zz>0.02</inertia_zz><inertia_xy>0</inertia_xy><inertia_xz>0</inertia_xz><inertia_yz>0</inertia_yz>
				<Joint><PinJoint name="shoulder"><parent_body>ground</parent_body><location_in_parent>0 0.8 0</location_in_parent>
					<orientation_in_parent>0 0 0</orientation_in_parent><location>0 0.1 0</location><orientation>0 0 0</orientation>
					<CoordinateSet><objects><Coordinate name="shoulder_flex"><motion_type>rotational</motion_type>
						<default_value>0.1</default_value><range>-1.5 3</range><clamped>true</clamped></Coordinate></objects></CoordinateSet>
				</PinJoint></Joint></Body>
		</objects></BodySet>
		<ForceSet><objects>
			<Thelen2003Muscle name="deltoid"><isDisabled>false</isDisabled>
				<GeometryPath><PathPointSet><objects>
					<PathPoint name="P1"><location>0 0.9 0.02</location><body>ground</body></PathPoint>
					<PathPoint name="P2"><location>0.02 -0.1 0</location><body>upper</body></PathPoint>
				</objects></PathPointSet></GeometryPath>
				<max_isometric_force>600</max_isometric_force><optimal_fiber_length>0.1</optimal_fiber_length></Thelen2003Muscle>
		</objects></ForceSet>
		<MarkerSet><objects><Marker name="hand"><body>upper</body><location>0 -0.25 0</location></Marker></objects></MarkerSet>
	</Model>
</OpenSimDocument>
"""
